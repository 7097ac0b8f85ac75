package function

import "github.com/mayflydb/mayfly/internal/doc"

var conditionalFunctions = []Function{
	{Name: "IIF", Family: "Conditional", Min: 3, Max: 3, Run: iif},
}

// iif returns the last argument for every condition that is not true, of any type.
func iif(_ *Call, args []doc.Value) doc.Value {
	if met, _ := doc.AsBool(args[0]); met {
		return args[1]
	}
	return args[2]
}
