// Package session holds what outlives a command of the API for MongoDB: logical sessions, their
// transactions, the answers to retryable writes, and open cursors. A Node is what all commands of
// one server share. An Operation is one command as the packages that read and write see it: its
// instants, session and transaction, memory, work and trace. The package knows no connection and
// reads no arguments.
package session
