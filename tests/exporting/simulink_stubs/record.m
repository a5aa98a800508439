function record(varargin)
% Append a call to the file of calls, one line each; line breaks inside texts are written as \n.
texts = cellfun(@told, varargin, 'UniformOutput', false);
file = fopen('calls.txt', 'a');
fprintf(file, '%s\n', strjoin(texts, "\t"));
fclose(file);
end

function text = told(value)
if ischar(value)
  text = strrep(value, "\n", '\n');
else
  text = mat2str(value, 17);
end
end
