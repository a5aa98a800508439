function new_system(name)
record('new_system', name);
end
