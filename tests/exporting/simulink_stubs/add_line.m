function add_line(varargin)
record('add_line', varargin{:});
end
