classdef StateflowChart < handle
  properties
    Path = '';
    Script = '';
  end
  methods
    function chart = StateflowChart(path)
      chart.Path = path;
    end
    function set.Script(chart, text)
      record('script', chart.Path, text);
      chart.Script = text;
    end
    function data = find(chart, varargin)
      data = StateflowData(chart.Path, varargin{4});
    end
  end
end
