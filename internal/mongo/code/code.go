// Package code has the numbers and names of MongoDB's errors, and the error that
// carries one to a client. The numbers are a promise: drivers and test suites
// act on them. It knows no command.
package code

import (
	"errors"
	"fmt"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A Code is the number of an error.
// https://www.mongodb.com/docs/manual/reference/error-codes/
type Code int32

// The codes that have a name.
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
	CannotBackfillArray                      Code = 34
	NotExactValueField                       Code = 111
	DurationOverflow                         Code = 159
	RoleNotFound                             Code = 31
	ConflictingUpdateOperators               Code = 40
	CursorNotFound                           Code = 43
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
	CannotCreateIndex                        Code = 67
	IndexAlreadyExists                       Code = 68
	InvalidOptions                           Code = 72
	InvalidNamespace                         Code = 73
	NoReplicationEnabled                     Code = 76
	NetworkTimeout                           Code = 89
	ShutdownInProgress                       Code = 91
	IndexOptionsConflict                     Code = 85
	IndexKeySpecsConflict                    Code = 86
	OperationFailed                          Code = 96
	CannotSatisfyWriteConcern                Code = 100
	WriteConflict                            Code = 112
	CommandNotSupported                      Code = 115
	NamespaceCannotBeSharded                 Code = 119
	DocumentValidationFailure                Code = 121
	CappedPositionLost                       Code = 136
	TransactionTooOld                        Code = 225
	CannotIndexParallelArrays                Code = 171
	CommandOnShardedViewNotSupportedOnMongod Code = 169
	CommandNotSupportedOnView                Code = 166
	OptionNotSupportedOnView                 Code = 167
	InvalidPipelineOperator                  Code = 168
	ClientMetadataAppNameTooLarge            Code = 184
	ClientMetadataDocumentTooLarge           Code = 185
	ClientMetadataCannotBeMutated            Code = 186
	AmbiguousIndexKeyPattern                 Code = 181
	PrimarySteppedDown                       Code = 189
	InvalidIndexSpecificationOption          Code = 197
	OperationNotSupportedOnView              Code = 166
	QueryPlanKilled                          Code = 175
	NoSuchSession                            Code = 206
	InvalidUUID                              Code = 207
	QueryFeatureNotAllowed                   Code = 224
	CannotImplicitlyCreateCollection         Code = 227
	CursorInUse                              Code = 245
	CursorKilled                             Code = 237
	InvalidResumeToken                       Code = 260
	NoMatchingDocument                       Code = 47
	ConversionFailure                        Code = 241
	NoSuchTransaction                        Code = 251
	TransactionCommitted                     Code = 256
	OperationNotSupportedInTransaction       Code = 263
	TooManyLogicalSessions                   Code = 261
	ChangeStreamFatalError                   Code = 280
	TransactionCoordinatorSteppingDown       Code = 281
	ChangeStreamHistoryLost                  Code = 286
	QueryExceededMemoryLimitNoDiskUseAllowed Code = 292
	MechanismUnavailable                     Code = 334
	UnsupportedOpQueryCommand                Code = 352
	UserAlreadyExists                        Code = 51003
	Interrupted                              Code = 11601
	InterruptedAtShutdown                    Code = 11600
	DuplicateKey                             Code = 11000
	NotWritablePrimary                       Code = 10107
	NotPrimaryNoSecondaryOk                  Code = 13435
	NotPrimaryOrSecondary                    Code = 13436
	BSONObjectTooLarge                       Code = 10334
	TooManyRequests                          Code = 16500
	UnknownReplWriteConcern                  Code = 79
	ConflictingOperationInProgress           Code = 117
	NotAReplicaSet                           Code = 123
	CommandFailed                            Code = 125
	IncompleteTransactionHistory             Code = 217
	SnapshotUnavailable                      Code = 246
	FailPointSetFailed                       Code = 266
	ExceededTimeLimit                        Code = 262
	SocketException                          Code = 9001
	InterruptedDueToReplStateChange          Code = 11602
	NotARetryableWriteCommand                Code = 50768
	UnknownFieldOfCommand                    Code = 40415 // Location40415: an IDL struct has no such field
	MissingFieldOfCommand                    Code = 40414 // Location40414: an IDL struct lacks a field
	MergeStageNoMatchingDocument             Code = 13113
	MaxSubPipelineDepthExceeded              Code = 232
	UnrecognizedStage                        Code = 40324 // Location40324
	SearchNotEnabled                         Code = 31082
)

// names lists the codes whose name is not LocationN.
var names = map[Code]string{
	InternalError: "InternalError", BadValue: "BadValue", NoSuchKey: "NoSuchKey", GraphContainsCycle: "GraphContainsCycle",
	HostUnreachable: "HostUnreachable", HostNotFound: "HostNotFound", UnknownError: "UnknownError", FailedToParse: "FailedToParse",
	UserNotFound: "UserNotFound", SearchNotEnabled: "SearchNotEnabled", UnsupportedFormat: "UnsupportedFormat", Unauthorized: "Unauthorized", TypeMismatch: "TypeMismatch",
	Overflow: "Overflow", InvalidLength: "InvalidLength", ProtocolError: "ProtocolError", AuthenticationFailed: "AuthenticationFailed",
	IllegalOperation: "IllegalOperation", InvalidBSON: "InvalidBSON", 23: "AlreadyInitialized", LockTimeout: "LockTimeout", NamespaceNotFound: "NamespaceNotFound",
	IndexNotFound: "IndexNotFound", PathNotViable: "PathNotViable", MergeStageNoMatchingDocument: "MergeStageNoMatchingDocument", MaxSubPipelineDepthExceeded: "MaxSubPipelineDepthExceeded", CannotBackfillArray: "CannotBackfillArray", NotExactValueField: "NotExactValueField", DurationOverflow: "DurationOverflow", ConflictingUpdateOperators: "ConflictingUpdateOperators",
	CursorNotFound: "CursorNotFound", NamespaceExists: "NamespaceExists", MaxTimeMSExpired: "MaxTimeMSExpired",
	DollarPrefixedFieldName: "DollarPrefixedFieldName", InvalidIDField: "InvalidIdField", NotSingleValueField: "NotSingleValueField",
	InvalidDBRef: "InvalidDBRef", EmptyFieldName: "EmptyFieldName", DottedFieldName: "DottedFieldName", CommandNotFound: "CommandNotFound",
	ImmutableField: "ImmutableField", CannotCreateIndex: "CannotCreateIndex", IndexAlreadyExists: "IndexAlreadyExists",
	InvalidOptions: "InvalidOptions", InvalidNamespace: "InvalidNamespace", NetworkTimeout: "NetworkTimeout",
	ShutdownInProgress: "ShutdownInProgress", IndexOptionsConflict: "IndexOptionsConflict", IndexKeySpecsConflict: "IndexKeySpecsConflict",
	OperationFailed: "OperationFailed", CannotSatisfyWriteConcern: "CannotSatisfyWriteConcern", WriteConflict: "WriteConflict",
	CommandNotSupported: "CommandNotSupported", NamespaceCannotBeSharded: "NamespaceCannotBeSharded",
	DocumentValidationFailure: "DocumentValidationFailure", CappedPositionLost: "CappedPositionLost", TransactionTooOld: "TransactionTooOld",
	CannotIndexParallelArrays: "CannotIndexParallelArrays", CommandOnShardedViewNotSupportedOnMongod: "CommandOnShardedViewNotSupportedOnMongod",
	CommandNotSupportedOnView: "CommandNotSupportedOnView", OptionNotSupportedOnView: "OptionNotSupportedOnView",
	ConversionFailure: "ConversionFailure", InvalidPipelineOperator: "InvalidPipelineOperator", AmbiguousIndexKeyPattern: "AmbiguousIndexKeyPattern", PrimarySteppedDown: "PrimarySteppedDown",
	InvalidIndexSpecificationOption: "InvalidIndexSpecificationOption", QueryPlanKilled: "QueryPlanKilled", NoSuchSession: "NoSuchSession",
	InvalidUUID: "InvalidUUID", QueryFeatureNotAllowed: "QueryFeatureNotAllowed",
	CannotImplicitlyCreateCollection: "CannotImplicitlyCreateCollection", CursorInUse: "CursorInUse", CursorKilled: "CursorKilled", InvalidResumeToken: "InvalidResumeToken", NoMatchingDocument: "NoMatchingDocument", NoSuchTransaction: "NoSuchTransaction",
	TransactionCommitted: "TransactionCommitted", OperationNotSupportedInTransaction: "OperationNotSupportedInTransaction",
	TooManyLogicalSessions: "TooManyLogicalSessions", ChangeStreamFatalError: "ChangeStreamFatalError",
	TransactionCoordinatorSteppingDown: "TransactionCoordinatorSteppingDown", ChangeStreamHistoryLost: "ChangeStreamHistoryLost",
	QueryExceededMemoryLimitNoDiskUseAllowed: "QueryExceededMemoryLimitNoDiskUseAllowed", MechanismUnavailable: "MechanismUnavailable",
	UnsupportedOpQueryCommand: "UnsupportedOpQueryCommand", UserAlreadyExists: "Location51003", Interrupted: "Interrupted",
	InterruptedAtShutdown: "InterruptedAtShutdown", DuplicateKey: "DuplicateKey", NotWritablePrimary: "NotWritablePrimary",
	NotPrimaryNoSecondaryOk: "NotPrimaryNoSecondaryOk", NotPrimaryOrSecondary: "NotPrimaryOrSecondary", BSONObjectTooLarge: "BSONObjectTooLarge",
	TooManyRequests:         "TooManyRequests",
	UnknownReplWriteConcern: "UnknownReplWriteConcern", ConflictingOperationInProgress: "ConflictingOperationInProgress", NotAReplicaSet: "NotAReplicaSet", CommandFailed: "CommandFailed", IncompleteTransactionHistory: "IncompleteTransactionHistory", SnapshotUnavailable: "SnapshotUnavailable", FailPointSetFailed: "FailPointSetFailed", ExceededTimeLimit: "ExceededTimeLimit", SocketException: "SocketException", InterruptedDueToReplStateChange: "InterruptedDueToReplStateChange", NotARetryableWriteCommand: "NotARetryableWriteCommand",
	RoleNotFound: "RoleNotFound", NoReplicationEnabled: "NoReplicationEnabled", ClientMetadataAppNameTooLarge: "ClientMetadataAppNameTooLarge",
	ClientMetadataDocumentTooLarge: "ClientMetadataDocumentTooLarge", ClientMetadataCannotBeMutated: "ClientMetadataCannotBeMutated",
	APIVersionError: "APIVersionError", APIStrictError: "APIStrictError", APIDeprecationError: "APIDeprecationError", APIMismatchError: "APIMismatchError",
}

// Name is the codeName of an error: that of a known code, else LocationN.
func (c Code) Name() string {
	if name, ok := names[c]; ok {
		return name
	}
	return fmt.Sprintf("Location%d", int32(c))
}

// An Error is a failure as a client is told of it.
type Error struct {
	Code    Code
	Message string
	Labels  []string // errorLabels
	Info    doc.Doc  // further members of the answer: keyPattern, keyValue, errInfo
	Cause   error    // for the log
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error of that code.
func New(c Code, format string, args ...any) *Error {
	if len(args) == 0 {
		return &Error{Code: c, Message: format}
	}
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// Of is the Error that err is or wraps, nil if it is none.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// Is reports whether err is an Error of that code.
func Is(err error, c Code) bool {
	e := Of(err)
	return e != nil && e.Code == c
}

// NoSearch and NoSearchIndexes are what MongoDB answers to stages and commands of Atlas Search where it is
// not set up. mongodb/mongo: src/mongo/db/pipeline/search/search_helper.cpp
func NoSearch() *Error {
	return New(SearchNotEnabled, "Using $search and $vectorSearch aggregation stages requires additional configuration. "+connectToAtlas)
}

// NoSearchIndexes is NoSearch for $listSearchIndexes and the commands for search indexes.
func NoSearchIndexes() *Error {
	return New(SearchNotEnabled, "Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration. "+connectToAtlas)
}

const connectToAtlas = "Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, " +
	"see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs."

// Unsupported says that mayfly does not have what the client asks for, by name.
func Unsupported(what string) *Error {
	return New(CommandNotSupported, "%s is not supported by mayfly", what)
}
