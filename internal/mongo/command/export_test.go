package command

// Requests is how often a command has been asked for.
func (s *Server) Requests(name string) int64 { return s.counts[name].Load() }

// Grants reports whether a built-in role of a database lets a command be run on another one.
func Grants(name, of, command, on string) bool {
	c := table[command]
	return c.open || rightsOf([]role{{name: name, database: of}}).allow(c.needs, on)
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

// Refused lists the commands that are refused by name.
func Refused() []string { return refused }
