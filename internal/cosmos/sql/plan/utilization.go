package plan

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// single is a path in the form of the index-utilization header: /a/?.
func single(p access.Path) string {
	return append(docPath(p), doc.Token{Kind: doc.TokenScalar}).String()
}

func docPath(p access.Path) doc.Path {
	path := make(doc.Path, len(p))
	for i, step := range p {
		path[i] = doc.Token{Name: step.Name}
		if step.Element {
			path[i] = doc.Token{Kind: doc.TokenElement}
		}
	}
	return path
}

func columnTexts(columns []access.Column) []string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = columnText(c)
	}
	return texts
}

func columnText(c access.Column) string {
	if c.Descending {
		return docPath(c.Path).String() + " DESC"
	}
	return docPath(c.Path).String() + " ASC"
}

// Limits of the index-utilization header: the number of paths, their length, and the paths of a composite index, the
// same as the service's.
const (
	maxTold      = 64
	maxToldBytes = 1024
	maxColumns   = 8
)

func appendNew(list []string, path access.Path) []string {
	if len(list) == maxTold {
		return list
	}
	if s := single(path); len(s) <= maxToldBytes && !slices.Contains(list, s) {
		return append(list, s)
	}
	return list
}

// usedSingle records the paths of a set.
func (b *builder) usedSingle(c condition) {
	switch c.kind {
	case within:
		b.plan.Indexes.UsedSingle = appendNew(b.plan.Indexes.UsedSingle, c.leaf.Path)
	case tested:
		b.plan.Indexes.UsedSingle = appendNew(b.plan.Indexes.UsedSingle, c.test.Range.Path)
	}
	for _, part := range c.parts {
		b.usedSingle(part)
	}
}

// recommend lists indexes that would have helped: on paths of the filter without one, and a composite index if
// several paths were used separately.
func (b *builder) recommend() {
	if b.plan.Nothing || len(b.plan.Indexes.UsedComposite) > 0 {
		return
	}
	for _, c := range b.said {
		b.missing(c)
	}
	if b.looksUp() {
		return
	}
	if columns := b.ideal(); len(columns) > 1 && len(columns) <= maxColumns {
		b.plan.Indexes.WantedComposite = append(b.plan.Indexes.WantedComposite, columnTexts(columns))
	}
}

// looksUp reports that the access is by id.
func (b *builder) looksUp() bool {
	_, ok := b.plan.Access.Of.(*access.Lookup)
	return ok
}

func (b *builder) missing(c condition) {
	looked := b.looksUp() && isID(c.leaf.Path)
	if c.kind == within && !isStamp(c.leaf.Path) && !b.indexed(c.leaf.Path) && !b.inKey(c.leaf.Path) && !looked {
		b.plan.Indexes.WantedSingle = appendNew(b.plan.Indexes.WantedSingle, c.leaf.Path)
	}
	if c.kind == tested && !b.indexed(c.test.Range.Path) {
		b.plan.Indexes.WantedSingle = appendNew(b.plan.Indexes.WantedSingle, c.test.Range.Path)
	}
	for _, part := range c.parts {
		b.missing(part)
	}
}

// inKey reports that the access fixes the path as a part of the partition key.
func (b *builder) inKey(p access.Path) bool {
	key := b.env.Schema.Partition
	partition, _ := b.partition()
	return slices.ContainsFunc(key[:min(len(key), len(partition))], func(k access.Path) bool {
		return slices.Equal(k, p)
	})
}

// ideal is the best composite index for a filter and an order: first the fixed paths, then the order, or else one
// range. For an order in a partition, the paths of the partition key are the first.
func (b *builder) ideal() (columns []access.Column) {
	var between []access.Column
	if partition, _ := b.partition(); len(b.keys) > 0 {
		for _, path := range b.env.Schema.Partition[:len(partition)] {
			if _, ok := b.fixedAt(path); !ok {
				return nil
			}
			columns = append(columns, access.Column{Path: path})
		}
	}
	for i := range b.said {
		c := &b.said[i]
		if c.kind != within || repeated(c.leaf.Path) || isStamp(c.leaf.Path) || b.inKey(c.leaf.Path) {
			continue
		}
		if _, ok := c.point(); ok {
			columns = append(columns, access.Column{Path: c.leaf.Path})
		} else {
			between = append(between, access.Column{Path: c.leaf.Path})
		}
	}
	if len(columns) == 0 {
		return nil
	}
	if len(b.keys) == 0 {
		return append(columns, between[:min(1, len(between))]...)
	}
	for _, key := range b.keys {
		if system(key.path) {
			return nil
		}
		if slices.ContainsFunc(columns, func(c access.Column) bool { return slices.Equal(c.Path, key.path) }) {
			continue
		}
		columns = append(columns, access.Column{Path: key.path, Descending: key.descending})
	}
	return columns
}
