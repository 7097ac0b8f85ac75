package parameter

import (
	"sync"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// How much each component of MongoDB writes to its log. Clients can set and read the levels, and they change nothing:
// mayfly's own flags say what it logs.
// https://www.mongodb.com/docs/v7.0/reference/log-messages/#configure-log-verbosity-levels

// A logComponent is a component of MongoDB with its parts.
type logComponent struct {
	name  string
	parts []logComponent
}

// logComponents are the components of MongoDB 7.0.
var logComponents = []logComponent{
	{"accessControl", nil}, {"command", nil}, {"control", nil}, {"executor", nil}, {"geo", nil},
	{"globalIndex", nil}, {"index", nil},
	{"network", []logComponent{{"asio", nil}, {"bridge", nil}, {"connectionPool", nil}}},
	{"processHealth", nil},
	{"query", []logComponent{{"optimizer", nil}, {"ce", nil}, {"rejected", nil}}},
	{"queryStats", nil},
	{"replication", []logComponent{{"election", nil}, {"heartbeats", nil}, {"initialSync", nil}, {"rollback", nil}}},
	{"sharding", []logComponent{
		{"rangeDeleter", nil}, {"shardingCatalogRefresh", nil}, {"migration", nil}, {"reshard", nil},
		{"migrationPerf", nil},
	}},
	{"storage", []logComponent{{"recovery", nil}, {"journal", nil}, {"wt", []logComponent{
		{"wtBackup", nil}, {"wtCheckpoint", nil}, {"wtCompact", nil}, {"wtEviction", nil}, {"wtHS", nil},
		{"wtRecovery", nil}, {"wtRTS", nil}, {"wtSalvage", nil}, {"wtTiered", nil}, {"wtTimestamp", nil},
		{"wtTransaction", nil}, {"wtVerify", nil}, {"wtWriteLog", nil},
	}}}},
	{"write", nil}, {"ftdc", nil}, {"tracking", nil}, {"transaction", nil}, {"tenantMigration", nil},
	{"test", nil}, {"resourceConsumption", nil}, {"streams", nil},
}

// logLevels are the levels that have been set, by the dotted names of components; "" is the default level.
type logLevels struct {
	mu sync.Mutex
	of map[string]int
}

func (x *logLevels) init() { x.of = map[string]int{"": 0} }

// get gives the level of a component, -1 if it has the level of the component that it is a part of.
func (x *logLevels) get(name string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n, ok := x.of[name]; ok {
		return n
	}
	return -1
}

// set sets levels; a negative one removes what was set.
func (x *logLevels) set(levels map[string]int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for name, n := range levels {
		switch {
		case n >= 0:
			x.of[name] = n
		case name == "":
			x.of[name] = 0
		default:
			delete(x.of, name)
		}
	}
}

// writeVerbosity writes all levels as one document.
func writeVerbosity(a *doc.Writer, name string, x *logLevels) {
	a.Object(name)
	a.Int32("verbosity", x.get(""))
	var write func(above string, parts []logComponent)
	write = func(above string, parts []logComponent) {
		for _, c := range parts {
			a.Object(c.name)
			a.Int32("verbosity", x.get(above+c.name))
			write(above+c.name+".", c.parts)
			a.Close()
		}
	}
	write("", logComponents)
	a.Close()
}

func parseLogLevel(p *Parameters, _ *call.Request, name string, v doc.Value) (func() error, error) {
	n, err := coerced(name, v)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxVerbosity {
		return nil, code.New(code.BadValue, "Invalid value for logLevel: %d", n)
	}
	return func() error {
		p.verbosity.set(map[string]int{"": int(n)})
		return nil
	}, nil
}

// maxVerbosity is the highest level.
const maxVerbosity = 5

func parseVerbosity(p *Parameters, _ *call.Request, _ string, v doc.Value) (func() error, error) {
	d, ok := doc.AsDoc(v)
	if !ok {
		return nil, code.New(code.TypeMismatch, "log component verbosity is not a BSON object: %s", code.Show(v))
	}
	levels := map[string]int{}
	if err := readVerbosity(levels, d, "", logComponents); err != nil {
		return nil, err
	}
	return func() error {
		p.verbosity.set(levels)
		return nil
	}, nil
}

// readVerbosity reads the levels of a component, whose dotted name is above, and of its parts.
// mongodb/mongo: src/mongo/db/commands/parse_log_component_settings.cpp
func readVerbosity(levels map[string]int, d doc.Doc, above string, parts []logComponent) error {
	for name, v := range doc.Members(d) {
		if name == "verbosity" {
			if err := readLevel(levels, above, v); err != nil {
				return err
			}
			continue
		}
		path := name
		if above != "" {
			path = above + "." + name
		}
		var found *logComponent
		for i := range parts {
			if parts[i].name == name {
				found = &parts[i]
			}
		}
		if found == nil {
			return code.New(code.BadValue, "Invalid component name %s.%.200s", dotted(above), name)
		}
		_, number := doc.AsFloat(v)
		inner, isDoc := doc.AsDoc(v)
		var err error
		switch {
		case number:
			err = readLevel(levels, path, v)
		case isDoc && v.Type == bsoncore.TypeEmbeddedDocument:
			err = readVerbosity(levels, inner, path, found.parts)
		default:
			err = code.New(code.BadValue, "Invalid type %sfor component %s.%s", code.TypeName(v), dotted(above), name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dotted is the name of a component in the errors of MongoDB.
func dotted(name string) string {
	if name == "" {
		return "default"
	}
	return name
}

func readLevel(levels map[string]int, name string, v doc.Value) error {
	n, ok := doc.AsInt64Exact(v)
	if !ok {
		return code.New(code.BadValue,
			"Expected %s.verbosity to be safely cast to integer, but could not: %s", dotted(name), code.Show(v))
	}
	levels[name] = int(min(max(n, -1), maxVerbosity))
	return nil
}
