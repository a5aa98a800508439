function assignin(workspace, name, value)
record('assignin', workspace, name, value);
end
