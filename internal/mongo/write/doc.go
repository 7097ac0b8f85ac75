// Package write changes documents and containers for the commands of the API for MongoDB: inserts,
// the statements of updates and deletes, findAndModify, upserts, $out and $merge. It checks
// documents against their container's validator, holds the memory that a write needs, and notes for
// change streams what happens to containers. It reads no arguments.
package write
