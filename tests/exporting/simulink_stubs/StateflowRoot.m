classdef StateflowRoot < handle
  methods
    function chart = find(root, varargin)
      chart = StateflowChart(varargin{4});
    end
  end
end
