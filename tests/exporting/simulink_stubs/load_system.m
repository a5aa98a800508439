function load_system(name)
record('load_system', name);
end
