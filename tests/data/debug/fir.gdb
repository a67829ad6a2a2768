break fir
run
info kernel
info args
info allocations
stepi
si 3
info registers
info waves
info groups
print $v0
print $v0[3]:u32
print/x $s[4:5]
print taps
x/4fw in
x/3i $pc
watch out+8:4
continue
print *(out + 8):f32
backtrace
info breakpoints
finish
delete
group 1
wave 1
