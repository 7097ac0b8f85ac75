// Package code has the numbers and names of MongoDB's error codes, and the error type that carries one to a client.
// Drivers and test suites act on the numbers, so they never change.
package code

import (
	"errors"
	"fmt"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A Code is the number of an error.
// https://www.mongodb.com/docs/manual/reference/error-codes/
type Code int32

// The codes that mayfly answers with, by number.
const (
	InternalError                            Code = 1
	BadValue                                 Code = 2
	NoSuchKey                                Code = 4
	GraphContainsCycle                       Code = 5
	HostUnreachable                          Code = 6
	HostNotFound                             Code = 7
	UnknownError                             Code = 8
	FailedToParse                            Code = 9
	UserNotFound                             Code = 11
	UnsupportedFormat                        Code = 12
	Unauthorized                             Code = 13
	TypeMismatch                             Code = 14
	Overflow                                 Code = 15
	InvalidLength                            Code = 16
	ProtocolError                            Code = 17
	AuthenticationFailed                     Code = 18
	IllegalOperation                         Code = 20
	InvalidBSON                              Code = 22
	LockTimeout                              Code = 24
	NamespaceNotFound                        Code = 26
	IndexNotFound                            Code = 27
	PathNotViable                            Code = 28
	RoleNotFound                             Code = 31
	CannotBackfillArray                      Code = 34
	ConflictingUpdateOperators               Code = 40
	CursorNotFound                           Code = 43
	NoMatchingDocument                       Code = 47
	NamespaceExists                          Code = 48
	MaxTimeMSExpired                         Code = 50
	DollarPrefixedFieldName                  Code = 52
	InvalidIDField                           Code = 53
	NotSingleValueField                      Code = 54
	InvalidDBRef                             Code = 55
	EmptyFieldName                           Code = 56
	DottedFieldName                          Code = 57
	CommandNotFound                          Code = 59
	ImmutableField                           Code = 66
	WriteConcernTimeout                      Code = 64
	CannotCreateIndex                        Code = 67
	IndexAlreadyExists                       Code = 68
	InvalidOptions                           Code = 72
	InvalidNamespace                         Code = 73
	NoReplicationEnabled                     Code = 76
	UnknownReplWriteConcern                  Code = 79
	IndexOptionsConflict                     Code = 85
	IndexKeySpecsConflict                    Code = 86
	NetworkTimeout                           Code = 89
	ShutdownInProgress                       Code = 91
	OperationFailed                          Code = 96
	UnsatisfiableWriteConcern                Code = 100
	NotExactValueField                       Code = 111
	WriteConflict                            Code = 112
	CommandNotSupported                      Code = 115
	ConflictingOperationInProgress           Code = 117
	DocumentValidationFailure                Code = 121
	NotAReplicaSet                           Code = 123
	CommandFailed                            Code = 125
	CappedPositionLost                       Code = 136
	CursorInUse                              Code = 143
	DurationOverflow                         Code = 159
	CommandNotSupportedOnView                Code = 166
	OptionNotSupportedOnView                 Code = 167
	InvalidPipelineOperator                  Code = 168
	CommandOnShardedViewNotSupportedOnMongod Code = 169
	CannotIndexParallelArrays                Code = 171
	QueryPlanKilled                          Code = 175
	AmbiguousIndexKeyPattern                 Code = 181
	ClientMetadataAppNameTooLarge            Code = 184
	ClientMetadataDocumentTooLarge           Code = 185
	ClientMetadataCannotBeMutated            Code = 186
	PrimarySteppedDown                       Code = 189
	InvalidIndexSpecificationOption          Code = 197
	NoSuchSession                            Code = 206
	InvalidUUID                              Code = 207
	IncompleteTransactionHistory             Code = 217
	QueryFeatureNotAllowed                   Code = 224
	TransactionTooOld                        Code = 225
	CannotImplicitlyCreateCollection         Code = 227
	MaxSubPipelineDepthExceeded              Code = 232
	CursorKilled                             Code = 237
	ConversionFailure                        Code = 241
	SnapshotUnavailable                      Code = 246
	NoSuchTransaction                        Code = 251
	TransactionCommitted                     Code = 256
	InvalidResumeToken                       Code = 260
	TooManyLogicalSessions                   Code = 261
	ExceededTimeLimit                        Code = 262
	OperationNotSupportedInTransaction       Code = 263
	FailPointSetFailed                       Code = 266
	ChangeStreamFatalError                   Code = 280
	TransactionCoordinatorSteppingDown       Code = 281
	ChangeStreamHistoryLost                  Code = 286
	ExceededMemoryLimit                      Code = 146
	QueryExceededMemoryLimitNoDiskUseAllowed Code = 292
	MechanismUnavailable                     Code = 334
	UnsupportedOpQueryCommand                Code = 352
	IngressRequestRateLimitExceeded          Code = 462
	SocketException                          Code = 9001
	NotWritablePrimary                       Code = 10107
	BSONObjectTooLarge                       Code = 10334
	DuplicateKey                             Code = 11000
	InterruptedAtShutdown                    Code = 11600
	Interrupted                              Code = 11601
	InterruptedDueToReplStateChange          Code = 11602
	MergeStageNoMatchingDocument             Code = 13113
	NotPrimaryNoSecondaryOk                  Code = 13435
	OutOfDiskSpace                           Code = 14031
	NotPrimaryOrSecondary                    Code = 13436
	TooManyRequests                          Code = 16500
	SearchNotEnabled                         Code = 31082
	UnrecognizedStage                        Code = 40324 // Location40324
	MissingFieldOfCommand                    Code = 40414 // Location40414: an IDL struct lacks a field
	UnknownFieldOfCommand                    Code = 40415 // Location40415: an IDL struct has no such field
	NotARetryableWriteCommand                Code = 50768
	UserAlreadyExists                        Code = 51003
)

// Name is the codeName of an error: the name of a known code, else LocationN.
func (c Code) Name() string {
	if name, ok := names[c]; ok {
		return name
	}
	return fmt.Sprintf("Location%d", int32(c))
}

// An Error is a failure as the client sees it.
type Error struct {
	Code    Code
	Message string
	Labels  []string // errorLabels
	Info    doc.Doc  // further members of the answer: keyPattern, keyValue, errInfo
	Cause   error    // for the log
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error with a code. Without args the message is format itself, in which % has no meaning.
func New(c Code, format string, args ...any) *Error {
	if len(args) == 0 {
		return &Error{Code: c, Message: format}
	}
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// Of returns the Error that err is or wraps, or nil.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// Is reports whether err is or wraps an Error with that code.
func Is(err error, c Code) bool {
	e := Of(err)
	return e != nil && e.Code == c
}

// NoSearch is MongoDB's error for a stage of Atlas Search on a server where that is not set up. mongodb/mongo:
// src/mongo/db/pipeline/search/search_helper.cpp
func NoSearch() *Error {
	return New(SearchNotEnabled,
		"Using $search and $vectorSearch aggregation stages requires additional configuration. "+connectToAtlas)
}

// NoSearchIndexes is MongoDB's error for $listSearchIndexes and the commands for search indexes on such a server.
func NoSearchIndexes() *Error {
	return New(SearchNotEnabled,
		"Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional "+
			"configuration. "+connectToAtlas)
}

const connectToAtlas = "Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on " +
	"how to connect, see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs."

// Unsupported is the error for a feature of MongoDB that mayfly does not have; what is its name.
func Unsupported(what string) *Error {
	return New(CommandNotSupported, "%s is not supported by mayfly", what)
}
