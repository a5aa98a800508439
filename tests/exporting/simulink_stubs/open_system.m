function open_system(name)
record('open_system', name);
end
