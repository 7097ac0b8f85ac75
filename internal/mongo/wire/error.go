package wire

import "fmt"

// An Error says what is wrong with a frame. The Message that was being read has
// its ID, Op and Flags, if these could be read, so that the sender can be told.
type Error struct {
	Code  int32  // MongoDB's number for it, the one a client is told
	Text  string // may be shown to the client
	Fatal bool   // nothing can be said or read after it: the connection closes
	Cause error  // what a decompressor says, for the log, or what Memory says; nil when there is none
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Text + ": " + e.Cause.Error()
	}
	return e.Text
}

func (e *Error) Unwrap() error { return e.Cause }

// The numbers of errors about frames. Those of five digits have no name of their own.
const (
	codeOverflow     = 15
	codeLength       = 16
	codeProtocol     = 17
	codeBSON         = 22
	codeFlags        = 223 // IllegalOpMsgFlag
	codeMemory       = 146 // ExceededMemoryLimit
	codeTooLarge     = 10334
	codeTwoBodies    = 40430
	codeTwoSequences = 40431
	codeSection      = 40432
	codeTwice        = 40433
	codeNoBody       = 40587
)

// refuse makes an error of a frame whose end is known: the next one can be read.
func refuse(code int32, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...)}
}

// fatal makes an error after which the connection is of no use.
func fatal(code int32, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...), Fatal: true}
}
