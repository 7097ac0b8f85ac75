package syntax

import (
	"fmt"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Error returns the messages, one after another.
func (e *Error) Error() string {
	text := ""
	for i, m := range e.Mistakes {
		if i > 0 {
			text += " "
		}
		text += m.Message
	}
	return text
}

// Unwrap returns a fault.Invalid.
func (e *Error) Unwrap() error { return fault.New(fault.Invalid, "%s", e.Error()) }

// Wrong returns an Error with one mistake.
func Wrong(code string, at Span, format string, args ...any) *Error {
	return &Error{Mistakes: []Mistake{{Code: code, Message: fmt.Sprintf(format, args...), Span: at}}}
}
