package schema

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// viewDepth is the code ViewDepthLimitExceeded.
const viewDepth code.Code = 165

// checkView decides whether a view may be defined: its pipeline must compile and must not write, and nothing that it
// reads may read the view.
func checkView(n *session.Node, names *expression.Names, db, name, on string, stages []doc.Value) error {
	if on == "" {
		return code.New(code.BadValue, "'viewOn' cannot be empty")
	}
	if err := call.CheckName(db, on); err != nil {
		return err
	}
	p, err := pipeline.Compile(stages, pipeline.Options{Names: names})
	if err != nil {
		return err
	}
	reads, writes := p.Containers()
	if writes != nil {
		return code.New(code.OptionNotSupportedOnView, "The aggregation stage in a view's pipeline must not write: "+
			"$out and $merge are not allowed in a view definition")
	}
	if source, _ := p.Source(); source == "$changeStream" {
		return code.New(code.OptionNotSupportedOnView, "$changeStream cannot be used in a view definition")
	}
	w := viewWalk{n: n, db: db, name: name, done: map[string]int{}}
	return w.all(on, reads, 1)
}

// A viewWalk visits what views read.
type viewWalk struct {
	n    *session.Node
	db   string
	name string         // of the view that nothing may read
	done map[string]int // the depth at which a name was visited
}

func (w *viewWalk) all(on string, reads []pipeline.Namespace, depth int) error {
	if err := w.follow(on, depth); err != nil {
		return err
	}
	for _, n := range reads {
		if n.Database != "" && n.Database != w.db {
			continue // views read their own database only
		}
		if err := w.follow(n.Container, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *viewWalk) follow(name string, depth int) error {
	switch {
	case name == w.name:
		return code.New(code.GraphContainsCycle, "View cycle detected: the view %s.%s would read itself", w.db, w.name)
	case depth > query.MaxViews:
		return code.New(viewDepth, "View depth limit exceeded: at most %d views may lie on one another", query.MaxViews)
	case w.done[name] >= depth:
		return nil
	}
	w.done[name] = depth
	c, err := w.n.Find(w.db, name)
	if c == nil || err != nil {
		return err
	}
	v := query.ViewOf(c)
	if v == nil {
		return nil
	}
	p, err := pipeline.Compile(v.Stages, pipeline.Options{})
	if err != nil {
		return err
	}
	reads, _ := p.Containers()
	return w.all(v.On, reads, depth+1)
}
