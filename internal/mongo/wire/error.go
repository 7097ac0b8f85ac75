package wire

import "fmt"

// An Error says what is wrong with a frame. The Message being read has its ID, Op and Flags, if these could be read, so
// that the caller can answer the client.
type Error struct {
	Code  int32  // MongoDB's code, for the client
	Text  string // may be shown to the client
	Fatal bool   // nothing more can be written or read: the connection closes
	Cause error  // the error of a decompressor, for the log, or of Memory; may be nil
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Text + ": " + e.Cause.Error()
	}
	return e.Text
}

func (e *Error) Unwrap() error { return e.Cause }

// The codes of errors about frames. Codes of five digits have no name.
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

// refuse makes the error of a frame whose end is known, so that the next one can be read.
func refuse(code int32, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...)}
}

// fatal makes an error after which the connection cannot be used.
func fatal(code int32, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...), Fatal: true}
}
