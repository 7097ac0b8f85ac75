package rest

import "sync"

// maxPooledPage is the largest buffer of a page of rows that is kept for another query: enough for 100 items of 1 KiB.
// A query reserves what it uses of such a buffer as if the buffer were new, see exec.Limit.
const maxPooledPage = 256 << 10

// A pageBuffer is the memory of a finished page.
type pageBuffer struct{ bytes []byte }

var pageBuffers = sync.Pool{New: func() any { return new(pageBuffer) }}

// openPage moves the reply to the buffer of an earlier page, if there is one with more space.
func (e *exchange) openPage() {
	if e.buffer != nil { // it was opened for an earlier try
		return
	}
	e.buffer = pageBuffers.Get().(*pageBuffer)
	if cap(e.buffer.bytes) > cap(e.reply) {
		e.reply, e.buffer.bytes = append(e.buffer.bytes[:0], e.reply...), e.reply
	}
}

// closePage keeps the buffer of the reply for another query if the exchange does not keep it.
func (e *exchange) closePage() {
	if e.buffer == nil {
		return
	}
	if size := cap(e.reply); size > maxPooled && size <= maxPooledPage {
		e.reply, e.buffer.bytes = e.buffer.bytes, e.reply
	}
	pageBuffers.Put(e.buffer)
	e.buffer = nil
}
