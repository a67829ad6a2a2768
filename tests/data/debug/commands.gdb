help
help x
catch launch
tbreak reverse.cl:16
run
continue
list
list 3
info line
info source
step
next 2
info registers exec v3
x/2i $pc
x
rwatch out
disable
info breakpoints
enable 1
delete 1
until reverse+0xd4
disassemble reverse+0xc8
print/t $exec
print 3 * (4 + 1)
nexti
echo the end
finish
group 1
kill
