function root = sfroot()
root = StateflowRoot();
end
