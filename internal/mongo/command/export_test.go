package command

import (
	"sync"

	"github.com/mayflydb/mayfly/internal/mongo/account"
)

// Commands gives the table of commands: name to help.
func Commands() map[string]string {
	list := map[string]string{}
	for name, c := range table {
		list[name] = c.help
		if c.test {
			list[name] += " Only with `--mongo-test-commands`."
		}
	}
	return list
}

// Requests is how often a command has been asked for.
func (s *Server) Requests(name string) int64 { return s.monitor.Requests.Of(name).Begun.Load() }

// Grants reports whether a built-in role of a database lets a command be run on another one.
func Grants(name, of, command, on string) bool {
	c := table[command]
	return c.open || account.RightsOf([]account.Role{{Name: name, Database: of}}).Allow(c.needs, on)
}

// Unstated lists the commands that neither are open nor say what they need.
func Unstated() (names []string) {
	for name, c := range table {
		if !c.open && c.needs == 0 {
			names = append(names, name)
		}
	}
	return names
}

// Remembers is of how many containers the server keeps something in memory.
func (s *Server) Remembers() (n int) {
	for _, m := range []*sync.Map{&s.IndexLocks, &s.Rules, &s.Uses} {
		m.Range(func(any, any) bool { n++; return true })
	}
	return n
}
