package terminal

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// A Bar is one line of a chart: a label, a bar as long as its value, and what stands behind it.
type Bar struct {
	Label string
	Value float64
	Notes []string // in columns, aligned at the right
}

// leastBar is the length of the longest bar on a narrow screen.
const leastBar = 10

// Bars writes a chart of horizontal bars. The longest has the rest of the screen's width.
func (s Screen) Bars(bars []Bar) error {
	label, most, notes := 0, 0.0, []int{}
	for _, b := range bars {
		label, most = max(label, text.StringWidth(Plain(b.Label))), max(most, b.Value)
		for i, note := range b.Notes {
			if i == len(notes) {
				notes = append(notes, 0)
			}
			notes[i] = max(notes[i], text.StringWidth(Plain(note)))
		}
	}
	length := s.width
	if length == 0 {
		length = usualWidth
	}
	length -= label + gap
	for _, n := range notes {
		length -= n + gap
	}
	length = max(length, leastBar)
	for _, b := range bars {
		line := text.Pad(Plain(b.Label), label+gap, ' ') + text.Pad(bar(b.Value, most, length), length, ' ')
		for i, note := range b.Notes {
			line += strings.Repeat(" ", gap) + text.AlignRight.Apply(Plain(note), notes[i])
		}
		if _, err := fmt.Fprintln(s.Out, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// eighths are the ends of a bar that is not a whole number of characters long.
var eighths = []rune(" ▏▎▍▌▋▊▉")

// bar draws a bar in eighths of a character. A value above 0 has at least one.
func bar(value, most float64, length int) string {
	if value <= 0 || most <= 0 {
		return ""
	}
	n := max(1, int(value/most*float64(length*8)+0.5))
	b := strings.Repeat("█", n/8)
	if n%8 > 0 {
		b += string(eighths[n%8])
	}
	return b
}
