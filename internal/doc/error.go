package doc

import "fmt"

// An Error says why text from a client is no document, value or path, or why an
// edit cannot be done. Message is whole and may be shown to the client.
type Error struct {
	Offset   int // of the byte in the text where it went wrong; 0 for an edit
	Message  string
	TooLarge bool // a limit on size was passed, rather than a rule of form broken
}

func (e *Error) Error() string { return e.Message }

func failAt(offset int, format string, args ...any) *Error {
	return &Error{Offset: offset, Message: fmt.Sprintf(format, args...) + fmt.Sprintf(" at byte %d.", offset)}
}

func refuse(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}
