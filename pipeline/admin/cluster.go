package admin

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Node is one of several processes that run the same pipelines, each over some parts of what there is.
type Node struct {
	Node       int      `json:"node"`
	Partitions []string `json:"partitions"`
	Coming     []string `json:"coming,omitempty"`  // partitions on their way to it, which no node has
	State      string   `json:"state"`             // "up", "down", "ended" or "new"
	Seen       float64  `json:"seen_s"`            // seconds since then; 0 of one that has ended, or never ran
	Waiting    int      `json:"waiting"`           // what others have sent it, and it has not received
	Config     string   `json:"config"`            // the same for those that run the same
	Differs    bool     `json:"differs,omitempty"` // its configuration, from that of the first that is up
	Place      string   `json:"place"`
	Address    string   `json:"address,omitempty"` // where others reach it
	Here       bool     `json:"here,omitempty"`    // it is this process
}

// Has names for a person its partitions, and those on their way to it.
func (n Node) Has() []string {
	all := slices.Clone(n.Partitions)
	for _, p := range n.Coming {
		all = append(all, p+" (on its way)")
	}
	return all
}

// Ago says for a person when it was last seen.
func (n Node) Ago() string {
	if n.Seen == 0 {
		return "–"
	}
	return shortDuration(n.Seen)
}

// cluster is what a handler knows of the others.
type cluster struct {
	node  int
	nodes func(context.Context) ([]Node, error)
}

// OnCluster makes the handler show all nodes of a cluster, of which this process is one:
//
//	GET /cluster    all of them as JSON, see [Node]
//
// The page has them above its pipelines. Pipelines are named NAME@PARTITION; metrics have the labels node and partition
// instead.
func (h *Handler) OnCluster(node int, nodes func(context.Context) ([]Node, error)) {
	h.mu.Lock()
	h.cluster = &cluster{node, nodes}
	h.mu.Unlock()
	h.mux.HandleFunc("GET /cluster", func(w http.ResponseWriter, r *http.Request) {
		all, err := nodes(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		serveJSON(w, all)
	})
}

func (h *Handler) inCluster() *cluster {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.cluster
}

// clusterTimeout is how long the database may take to say how the nodes are.
const clusterTimeout = 3 * time.Second

// pageNodes returns the nodes for the page, or why they are not known.
func (h *Handler) pageNodes(ctx context.Context) (nodes []Node, failure string) {
	c := h.inCluster()
	if c == nil {
		return nil, ""
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	nodes, err := c.nodes(ctx)
	if err != nil {
		return nil, err.Error()
	}
	return nodes, ""
}

// byNode adds to metrics the labels node and partition, where the process is a node of a cluster.
type byNode struct {
	prometheus.Gatherer
	h *Handler
}

func (g byNode) Gather() ([]*dto.MetricFamily, error) {
	families, err := g.Gatherer.Gather()
	c := g.h.inCluster()
	if c == nil {
		return families, err
	}
	for _, family := range families {
		for _, metric := range family.Metric {
			metric.Label = c.labels(metric.Label)
		}
	}
	return families, err
}

func (c *cluster) labels(labels []*dto.LabelPair) []*dto.LabelPair {
	pair := func(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }
	with := []*dto.LabelPair{pair("node", strconv.Itoa(c.node))}
	for _, l := range labels {
		name, partition, ok := strings.Cut(l.GetValue(), "@")
		if ok && l.GetName() == "pipeline" {
			with = append(with, pair("pipeline", name), pair("partition", partition))
		} else {
			with = append(with, l)
		}
	}
	slices.SortFunc(with, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return with
}
