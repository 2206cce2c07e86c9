<?xml version="1.0"?>
<!-- What a page says in Open Graph, Microdata and RDFa, as statements about the page. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <xsl:template match="/">
    <rdf:RDF>
      <rdf:Description rdf:about="">
        <xsl:for-each select="//*[@itemprop and not(@itemscope)] | //*[@property and not(@typeof)]">
          <xsl:variable name="name" select="concat(@itemprop, @property)"/>
          <xsl:variable name="local">
            <xsl:choose>
              <xsl:when test="contains($name, ':')"><xsl:value-of select="substring-after($name, ':')"/></xsl:when>
              <xsl:otherwise><xsl:value-of select="$name"/></xsl:otherwise>
            </xsl:choose>
          </xsl:variable>
          <xsl:element name="{$local}" namespace="http://schema.org/">
            <xsl:choose>
              <xsl:when test="@content"><xsl:value-of select="normalize-space(@content)"/></xsl:when>
              <xsl:otherwise><xsl:value-of select="normalize-space(.)"/></xsl:otherwise>
            </xsl:choose>
          </xsl:element>
        </xsl:for-each>
      </rdf:Description>
    </rdf:RDF>
  </xsl:template>
</xsl:stylesheet>
