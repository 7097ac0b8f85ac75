package main

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/terminal"
)

// windowNames are the windows of a preview in words.
var windowNames = map[string]string{
	"now": "at once", "hour": "within an hour", "day": "within a day", "week": "within a week",
	"month": "within 30 days",
}

// showPreview prints what a policy would do. Each window counts the shorter ones, too; samples are those that only it
// has.
func (s *session) showPreview(p preview) error {
	lines := [][2]string{{"Now", p.Before}, {"Then", p.After},
		{"Items", estimate(p.Living.Documents, p.Margin == 0, p.Margin) + ", " + terminal.Bytes(p.Living.Bytes)}}
	if err := s.facts(lines); err != nil {
		return err
	}
	var rows [][]string
	for _, w := range p.Windows {
		name := windowNames[w.Name]
		if name == "" {
			name = w.Name
		}
		var samples []string
		for _, one := range w.Samples {
			samples = append(samples, one.String())
		}
		rows = append(rows, []string{name, estimate(w.Documents, w.Exact, w.Margin),
			share(w.Documents, p.Living.Documents), terminal.Bytes(w.Bytes), strings.Join(samples, ", ")})
	}
	return s.table("nothing would end", []string{"WOULD END", ">ITEMS", ">OF ALL", ">SIZE", "SUCH AS"}, rows)
}

// estimate marks a number that is one, with its margin of error; 0 if the server gives none.
func estimate(n int64, exact bool, margin int64) string {
	switch {
	case exact:
		return terminal.Count(n)
	case margin == 0:
		return "about " + terminal.Count(n)
	}
	return "about " + terminal.Count(n) + " ±" + terminal.Count(margin)
}

// share is a part in percent.
func share(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	switch percent := 100 * float64(part) / float64(whole); {
	case part > 0 && percent < 1:
		return "<1%"
	default:
		return terminal.Count(int64(percent)) + "%"
	}
}
