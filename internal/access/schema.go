package access

// A Path leads from a document to values in it.
type Path []Step

// A Step goes to the member called Name, or to each element of an array.
type Step struct {
	Name    string
	Element bool
}

// A Schema is what a language may know about a container to choose an Access.
type Schema struct {
	// Partition lists the paths of the partition key.
	Partition []Path
	// Hierarchical reports a key of several levels, whose prefixes select documents too.
	Hierarchical bool
	// Indexed reports whether every value at a path has an index entry.
	Indexed func(Path) bool
	// Composite lists the composite indexes, each with its columns in order.
	Composite [][]Column
}

// A Column is one path of a composite index.
type Column struct {
	Path       Path
	Descending bool
}
