# When does the load of work-group 1 come back, and who has its line then?
break reverse+0x68 if $group_x == 1 && $wave == 0
run
info waits
info groups
stepi
print $v3[0]:f32
info memory in + 256
wave 0,0,0.1
info waits
until 33065ns
watch out + 256
continue
info waits
finish
info time
kill
