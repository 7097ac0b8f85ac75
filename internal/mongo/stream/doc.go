// Package stream is the change streams of the API for MongoDB: the entries of the store's log as
// events, what a stream watches, and resume tokens. A stream is the producer of a cursor: it holds
// no more than how far it has come.
package stream
