package control

import (
	"bytes"
	"fmt"

	"github.com/webrace/webrace/xmlschema"
)

// document is a URD or an ACI as it is stored.
type document struct {
	xml   []byte // canonical
	nodes []byte // the same, for XPath
}

func encodeURD(u *xmlschema.URD) (document, error) {
	xml, nodes, err := u.Encode()
	return document{xml, nodes}, err
}

func encodeACI(a *xmlschema.ACI) (document, error) {
	xml, nodes, err := a.Encode()
	return document{xml, nodes}, err
}

func encode(xml []byte) (document, error) {
	nodes, err := xmlschema.BuildTable(xml)
	return document{xml, nodes}, err
}

func decodeURD(xml []byte) (*xmlschema.URD, error) {
	u, err := xmlschema.NewDecoder(bytes.NewReader(xml)).URD()
	if err != nil {
		return nil, fmt.Errorf("stored URD: %w", err)
	}
	return u, nil
}

func decodeACI(xml []byte) (*xmlschema.ACI, error) {
	a, err := xmlschema.NewDecoder(bytes.NewReader(xml)).ACI()
	if err != nil {
		return nil, fmt.Errorf("stored ACI: %w", err)
	}
	return a, nil
}
