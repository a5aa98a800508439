classdef StateflowData < handle
  properties
    Path = '';
    Name = '';
    Scope = 'Input';
  end
  methods
    function data = StateflowData(path, name)
      data.Path = path;
      data.Name = name;
    end
    function set.Scope(data, scope)
      record('scope', data.Path, data.Name, scope);
      data.Scope = scope;
    end
  end
end
