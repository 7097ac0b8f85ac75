package main

import (
	"fmt"
	"strings"

	"github.com/mayflydb/mayfly/internal/terminal"
)

// facts prints lines of a name and a value. It leaves out lines without a value.
func (s *session) facts(lines [][2]string) error {
	width := 0
	for _, line := range lines {
		if line[1] != "" {
			width = max(width, len(line[0]))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		if line[1] != "" {
			fmt.Fprintf(&b, "%-*s  %s\n", width, line[0], terminal.Plain(line[1]))
		}
	}
	_, err := fmt.Fprint(s.c.out, b.String())
	return err
}
