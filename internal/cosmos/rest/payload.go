package rest

import (
	"github.com/mayflydb/mayfly/internal/cosmos/binaryjson"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A request's body is JSON text, or the same in Cosmos DB's binary form: its first byte
// tells, and no header does. SDKs send items in it; answers are text, which those SDKs take too.

// parseDoc reads a body as one JSON object, appended to dst.
func parseDoc(dst, body []byte, opts doc.ParseOptions) (d doc.Doc, err error) {
	if binaryjson.Is(body) {
		d, err = binaryjson.Document(dst, body, opts)
	} else {
		d, err = doc.FromJSON(dst, body, opts)
	}
	if err != nil {
		return nil, docFault(err)
	}
	return d, nil
}

// parseValue reads a body as any JSON value.
func parseValue(body []byte) (v doc.Value, err error) {
	if binaryjson.Is(body) {
		v, err = binaryjson.Value(body)
	} else {
		v, err = doc.ValueFromJSON(body)
	}
	if err != nil {
		return doc.Value{}, docFault(err)
	}
	return v, nil
}

// payloadText is a body as JSON text, for what reads nothing else: scripts, and arrays whose
// elements are read one by one.
func payloadText(body []byte) ([]byte, error) {
	if !binaryjson.Is(body) {
		return body, nil
	}
	v, err := parseValue(body)
	if err != nil {
		return nil, err
	}
	return doc.AppendJSONValue(nil, v), nil
}
