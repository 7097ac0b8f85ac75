// Package query reads documents for the commands of the API for MongoDB: a Selection says which
// documents of a container are wanted and in which order, and becomes rows, or batches of a cursor
// that a later command goes on with. It reads views, the containers that stages join, and explains
// its plans. It writes nothing and reads no arguments.
package query
