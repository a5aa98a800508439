function value = get_param(model, name)
record('get_param', model, name);
value = 'the workspace of the model';
end
