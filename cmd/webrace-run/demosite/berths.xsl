<?xml version="1.0" encoding="UTF-8"?>
<!-- Makes RDF of the port's list of berths, which is XML of its own. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:b="urn:levanda:berths" exclude-result-prefixes="b"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:schema="http://schema.org/">
  <xsl:output method="xml" media-type="application/rdf+xml"/>
  <xsl:template match="/b:berths">
    <rdf:RDF><xsl:apply-templates select="b:berth"/></rdf:RDF>
  </xsl:template>
  <xsl:template match="b:berth">
    <schema:Reservation rdf:about="#berth-{@plate}">
      <rdfs:label>Berth <xsl:value-of select="@plate"/>: <xsl:value-of select="."/></rdfs:label>
      <schema:underName rdf:resource="{@holder}"/>
    </schema:Reservation>
  </xsl:template>
</xsl:stylesheet>
