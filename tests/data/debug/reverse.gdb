# Where is in[i] scaled, and does the value reach the other lane?
break reverse.cl:5
run
backtrace
info args
print $v3[0]:f32
next
print $v3[0]:f32
barrier
info waves
delete
awatch lds:0
continue
x/4fw lds:0
print/x $exec
finish
kill
