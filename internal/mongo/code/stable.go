package code

// The codes of MongoDB's Stable API.
// https://www.mongodb.com/docs/v7.0/reference/stable-api/
const (
	APIVersionError     Code = 322
	APIStrictError      Code = 323
	APIDeprecationError Code = 324
	APIMismatchError    Code = 347
)

// Unstable is the error for a stage or an operator that is not in version 1 of the Stable API.
func Unstable(name string) *Error {
	return New(APIStrictError, "%s is not allowed with 'apiStrict: true' in API Version 1", name)
}
