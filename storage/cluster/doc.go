// Package cluster is what the nodes of a cluster agree on, in the database of their control store: which partition is
// whose, what one has for another, and when all have done.
//
// It guarantees: what was sent is received at least once by the partition that it is for, and deleted when what it
// caused is durable there; a pass of a crawl is over, for the partition where the crawl begins, only if nothing that
// belongs to it waits or is under way anywhere; a run of a pipeline that ends is over for all partitions at once, when
// each has taken part and none has anything left to do; two processes are not the same node at a time, unless they
// have the same data directory, whose lock keeps them apart. A server that is away is waited for. All times are the
// database's.
//
// Two conditions hold whatever is killed, and all of it rests on them. While there is work anywhere, a partition is
// noted as not quiet, or something lies in an inbox. While a crawl has work outside the partition where it begins, a
// partition is noted in which it is pending, or something in an inbox names it. So what is received is noted in the
// transaction that takes it from the inbox, and what is sent is in an inbox before its page is done.
package cluster
