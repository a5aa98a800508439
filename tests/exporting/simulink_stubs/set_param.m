function set_param(varargin)
record('set_param', varargin{:});
end
