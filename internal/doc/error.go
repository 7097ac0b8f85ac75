package doc

import "fmt"

// An Error says why text from a client is not a document, value or path, or why an
// edit is not possible. Message is a complete text for the client.
type Error struct {
	Offset   int // of the byte in the text where the error is; 0 for an edit
	Message  string
	TooLarge bool // a limit on size was exceeded; otherwise the form is wrong
}

func (e *Error) Error() string { return e.Message }

func failAt(offset int, format string, args ...any) *Error {
	return &Error{Offset: offset, Message: fmt.Sprintf(format, args...) + fmt.Sprintf(" at byte %d.", offset)}
}

func refuse(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}
