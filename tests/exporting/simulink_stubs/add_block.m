function add_block(varargin)
record('add_block', varargin{:});
end
