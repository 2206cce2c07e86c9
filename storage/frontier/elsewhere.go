package frontier

import "context"

// Elsewhere is the rest of a cluster, as the queue of one of its partitions needs it: the hosts of the others, and when
// all are done. Its methods do not block.
type Elsewhere interface {
	// Here is the queue's own partition.
	Here() int
	// Of returns the partition that a host is of.
	Of(host string) int
	// Send makes envelopes durable for their partitions. done is called once, without a lock of the caller's, and must
	// not block. Each is received at least once, in any order.
	Send(all []Envelope, done func(error))
	// Attach has the receiver given what comes for it, until detach returns.
	Attach(to Receiver) (detach func())
	// Over reports whether this run is over everywhere: the queue, which has nothing more to hand out in it, need not
	// wait for others. The receiver is woken when that comes to be true.
	Over() bool
}

// OpenElsewhere opens the rest of the cluster for the queue of a pipeline. A program of a cluster lends it to stages.
type OpenElsewhere func(pipeline string) (Elsewhere, error)

// Here reports whether a host is of the partition that the data directory of a stage is. A program of a cluster lends
// it to sources of which each is to give its own share.
type Here func(host string) bool

// RequestsElsewhere returns how many requests other partitions have ever made for crawls that begin in this one, as
// [CrawlStatus] Requests counts them here. Of a crawl whose round is over, none is missing. A program of a cluster
// lends it to who charges for crawls.
type RequestsElsewhere func(ctx context.Context, pipeline string, crawls []string) (map[string]uint64, error)

// Envelope is what a queue has for another partition: links of a document, or the start of a crawl.
type Envelope struct {
	To     int    // the partition
	Passes []Pass // of the crawls that it concerns: none of them is over while it has not been received
	Data   []byte // for [Receiver] Receive; its first byte is the version of its format
}

// Pass is one of the passes of a crawl over its pages: see [Round] Number, which it is.
type Pass struct {
	Crawl  string
	Number uint32
}

// Receiver is the queue of a partition, as the rest of the cluster needs it.
type Receiver interface {
	// Receive takes the data of an envelope. done is called once what it caused is durable here, and must not block;
	// received again, it causes nothing more. An error of data that cannot be read is an [EnvelopeError].
	Receive(data []byte, done func(error))
	// Pending reports for each pass whether its crawl waits for URLs here, be it in that pass or in a later one.
	Pending(all []Pass) []bool
	// Requests returns how many requests were ever made here that served a crawl, as far as is durable.
	Requests(crawl string) (uint64, error)
	// Leaving returns the passes of the crawls that begin here and have left for other partitions, and wait for nothing
	// here: they are over once that is so everywhere.
	Leaving() []Pass
	// End notes that a pass is over everywhere; done is called once that is durable.
	End(p Pass, done func(error))
	// Idle reports whether the queue would end its run, were it alone: no crawl will be started here any more, and
	// nothing is out or to be handed out.
	Idle() bool
	// Wake has a waiting Take ask [Elsewhere] Over again.
	Wake()
}

// EnvelopeError is that of an envelope that cannot be read.
type EnvelopeError struct{ Err error }

func (e *EnvelopeError) Error() string { return "read what another partition sent: " + e.Err.Error() }

func (e *EnvelopeError) Unwrap() error { return e.Err }
