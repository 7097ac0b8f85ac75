package rest

import (
	"github.com/mayflydb/mayfly/internal/cosmos/binaryjson"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A request's body is JSON text or Cosmos DB's binary encoding of it. Only its first byte tells which; no header
// does. SDKs send items in the binary form. Answers are text, which those SDKs accept too.

// parseDoc parses a body as one JSON object, appended to dst.
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

// parseValue parses a body as any JSON value.
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

// payloadText is a body as JSON text, for callers that accept nothing else: scripts, and arrays that are parsed
// element by element.
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
