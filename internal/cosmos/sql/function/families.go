package function

// families lists the tables, one per file.
var families = [][]Function{
	arrayFunctions,
	conditionalFunctions,
	dateFunctions,
	fullTextFunctions,
	itemFunctions,
	mathFunctions,
	spatialFunctions,
	stringFunctions,
	typeFunctions,
	vectorFunctions,
}
