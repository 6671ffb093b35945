{{/* A native sidecar: among the initContainers of a pod, before those that call the API. */}}
{{- define "bearerd.sidecar" -}}
- name: bearerd
  {{- include "bearerd.image" . | nindent 2 }}
  restartPolicy: Always
  {{- $preset := dict "BEARERD_DRAIN_TIMEOUT" (dict "key" "drainTimeout" "value" "20s") "BEARERD_PROBES_LISTEN" (dict "key" "admin.probes" "value" "0.0.0.0:9182") }}
  env:
    {{- include "bearerd.environment" (dict "Values" .Values "preset" $preset) | trim | nindent 4 }}
  ports:
    - name: bearerd-probes
      containerPort: {{ include "bearerd.port" (dict "Values" .Values "preset" $preset "variable" "BEARERD_PROBES_LISTEN") }}
  {{- if .Values.sidecar.waitForToken }}
  startupProbe:
    httpGet:
      path: /readyz
      port: bearerd-probes
    periodSeconds: 1
    failureThreshold: 600
  {{- end }}
  readinessProbe:
    httpGet:
      path: /readyz
      port: bearerd-probes
    periodSeconds: 15
    timeoutSeconds: 5
  resources:
    {{- toYaml .Values.sidecar.resources | nindent 4 }}
  securityContext:
    {{- include "bearerd.securityContext" . | nindent 4 }}
  volumeMounts:
    {{- include "bearerd.volumeMounts" . | trim | nindent 4 }}
{{- end -}}
