package catalog

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A Definition is what a client decides about a container. It is immutable from the moment that the catalog has it.
type Definition struct {
	Name      string       `json:"name"`
	Dialect   Dialect      `json:"dialect,omitempty"` // of the API that it was created through
	Partition PartitionKey `json:"partition"`

	// Partitions is the number of ranges at creation; 0 means 1. See MaxPartitions.
	Partitions int `json:"partitions,omitempty"`

	// TTL and TTLProperty are the lifetime setting. State.Policy has them too, with what earlier settings have made
	// final.
	TTL         expiry.TTL `json:"ttl,omitempty"`
	TTLProperty string     `json:"ttl_property,omitempty"`

	// TTLIndex is the index by which the API for MongoDB shows TTL, nil for the one that it would make.
	TTLIndex doc.Doc `json:"ttl_index,omitempty"`

	Indexing Indexing `json:"indexing"`

	// Unique lists constraints, each of one or more paths, within one partition.
	Unique [][]string `json:"unique,omitempty"`

	// Echo is the definition as the API shows it, without name and lifetime. Members of it that have no field above are
	// kept and returned, and mean nothing here.
	Echo doc.Doc `json:"echo,omitempty"`
}

// A Dialect is the API whose rules a container follows: what identifies a document (see Identity), and how values are
// ordered.
type Dialect string

// The dialects. In NoSQL a document is identified by partition key and id; in Mongo by _id,
// in one partition.
const (
	NoSQL Dialect = ""
	Mongo Dialect = "mongo"
)

// A PartitionKey says which members of a document choose its partition.
type PartitionKey struct {
	Paths   []string `json:"paths"`
	Version int      `json:"version"`         // 1 or 2: which hash
	Multi   bool     `json:"multi,omitempty"` // hierarchical: two or three paths, each hashed by itself
}

// Indexing says which paths of a document have secondary index entries.
type Indexing struct {
	None      bool              `json:"none,omitempty"`
	Included  []string          `json:"included,omitempty"`
	Excluded  []string          `json:"excluded,omitempty"`
	Composite [][]CompositePath `json:"composite,omitempty"`
}

// A CompositePath is one column of a composite index.
type CompositePath struct {
	Path       string `json:"path"`
	Descending bool   `json:"descending,omitempty"`
}

// Equal reports whether both write the same entries.
func (x Indexing) Equal(y Indexing) bool {
	return x.None == y.None && slices.Equal(x.Included, y.Included) && slices.Equal(x.Excluded, y.Excluded) &&
		slices.EqualFunc(x.Composite, y.Composite, slices.Equal[[]CompositePath])
}

// compiled is a Definition with its paths parsed.
type compiled struct {
	ranges    []Range // in order of Low
	partition []doc.Path
	identity  Identity
	unique    [][]doc.Path
	partials  []func(doc.Doc) bool
}

// compile prepares a state for use: it parses every path and compiles every filter. It is called after each change.
func (s *State) compile(condition Condition) error {
	if condition == nil {
		condition = noCondition
	}
	c, err := s.Definition.compile()
	if err != nil {
		return err
	}
	if s.Divided != nil {
		c.ranges = s.Divided
	}
	c.identity = newIdentity(&s.Definition, c.partition)
	if c.partials, err = s.compilePartials(condition); err != nil {
		return err
	}
	s.Policy.Dates = s.dateRules()
	if err := s.Policy.Compile(condition); err != nil {
		return err
	}
	s.compiled = c
	return nil
}

func (d *Definition) compile() (compiled, error) {
	ranges, err := d.cut()
	if err != nil {
		return compiled{}, err
	}
	c := compiled{ranges: ranges}
	for _, text := range d.Partition.Paths {
		path, err := parsePath(text)
		if err != nil {
			return compiled{}, err
		}
		c.partition = append(c.partition, path)
	}
	for _, constraint := range d.Unique {
		var paths []doc.Path
		for _, text := range constraint {
			path, err := parsePath(text)
			if err != nil {
				return compiled{}, err
			}
			paths = append(paths, path)
		}
		c.unique = append(c.unique, paths)
	}
	if d.TTLProperty != "" { // which the policy parses for itself
		if _, err := parsePath(d.TTLProperty); err != nil {
			return compiled{}, err
		}
	}
	return c, nil
}

func parsePath(text string) (doc.Path, error) {
	path, err := doc.ParsePath(text)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The path '%s' is not valid. A path looks like /a/b or /\"a b\".",
			text)
	}
	return path, nil
}
