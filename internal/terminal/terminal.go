// Package terminal shows things to a person at a terminal: tables, bars, progress and questions, as wide as the
// terminal is. To a stream that is no terminal it writes the same without limits of width and without control
// characters. It knows nothing of databases, and never writes a control character that was in the data.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// usualWidth is the width of what needs one, such as bars, on a stream that is no terminal.
const usualWidth = 80

// A Screen is where a command writes what it shows.
type Screen struct {
	Out   io.Writer
	width int // 0 for a stream that is no terminal and has no width
}

// New is the screen of a stream. columns is the value of the environment variable COLUMNS, which counts if it is set:
// a person can so ask for a width, on any stream.
func New(out io.Writer, columns string) Screen {
	width := 0
	if file, ok := out.(*os.File); ok {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil {
			width = w
		}
	}
	n := 0
	if _, err := fmt.Sscan(columns, &n); err == nil && n > 0 {
		width = n
	}
	return Screen{out, width}
}

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Plain writes the control characters of a text as escape sequences of Go, such as \n or \x1b: text from a database
// must not control the terminal. Characters that change the direction of the text count as such.
func Plain(text string) string {
	if strings.IndexFunc(text, controls) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if controls(r) {
			quoted := fmt.Sprintf("%+q", r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func controls(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}
