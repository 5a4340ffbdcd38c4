"""What developers call the same thing in Portuguese and in English, where the two words do not meet by themselves (pure).

Made by hand for this project. Words that the analyzer or `translation` brings together ("arquitetura", "opção") need no
entry; a word with several meanings has the two or three that software gives it.
"""

from __future__ import annotations

from typing import Final

PAIRS: Final = """
abrir, abertura: open; achar, encontrar, encontrado: find, found; adicionar, acrescentar: add; agendador: scheduler;
agendar, agendamento, agenda: schedule; agrupar, agrupamento: group, cluster; aguardar: await, wait; ajuda: help;
ajustar, ajuste: adjust, tune; aleatório: random; alterar, alteração: change, modify; altura: height; alvo: target;
ambiente: environment, env; analisador: parser, analyzer; analisar, análise: parse, analyze, analysis;
andamento: progress; anexar: attach, append; anexo: attachment; anotação: annotation, note; anterior: previous;
antigo: old; apagar, excluir, exclusão: delete, erase; apelido: alias; aprendizado: learning;
armazenamento: storage, store; armazenar: store; arquivo: file; arredondar: round; aspas: quote; assinante: subscriber;
assinar: sign, subscribe; assinatura: signature, subscription; assíncrono: async; atalho: shortcut;
ativar, habilitar: enable, activate; atraso: delay; atualizar, atualização: update, upgrade, refresh;
ausente, faltar, faltando: missing; autocompletar: completion; aviso: warning; baixar: download; banco: database;
banco de dados: database; barra: slash; barramento: bus; biblioteca: library; bloquear, bloqueio: lock;
boleto: invoice; borda: edge; botão: button; buscar, busca, pesquisa, pesquisar, procurar: search, find, lookup;
cabeçalho: header, heading; cadastro, cadastrar: registration, register; cadeado: lock; cadeia: string, chain;
caixa: box; calcular, cálculo: compute; camada: layer; caminho: path; campo: field; canal: channel; capturar: catch;
carregar, carregamento: load; carrinho: cart; cartão: card; chamar, chamada: call; chave: key; chaves: brace;
cliente: customer; cobrança: billing, charge; colar: paste; coleta: gather; coluna: column; comentário: comment;
começar, começo: start, begin; comparar: compare; compartilhar, compartilhado: share, shared; compra: purchase;
comprimento: length; concluir, conclusão: complete, finish; conexão, conectar: connection, connect; conferir: check;
configurar, configuração: configure, configuration, config, settings; conjunto: set;
construir, construção: build, construct; construtor: builder; consulta, consultar: query, lookup; consumidor: consumer;
conta: account; contador: counter; contar, contagem: count; conteúdo: content; contorno: outline, workaround;
cor: color; corpo: body; corretor: broker; corrigir, correção, consertar: fix, correct; cortar: cut, trim, truncate;
criar, criação: create; criptografar: encrypt; criptografia: encryption, crypto; código: code;
cópia de segurança: backup; cópia, copiar: copy; dados, dado: data; decodificar: decode; definir: set;
depurar, depuração: debug; desativar, desabilitar: disable; descarregar: unload; descartar: discard, drop;
descontinuado: deprecated; desconto: discount; desempenho: performance; desenho: design, drawing;
desfazer: undo, rollback; desligar: shutdown, disable; destino: target; devolver: return; dica: hint, tip;
dicionário: dictionary, dict; diferença: difference, diff; disjuntor: breaker; disparar: trigger, fire;
dividir, divisão: split, divide; embutido: builtin, embedded; empacotar: package, bundle; empilhar: push;
empresa: company; encadear, encadeamento: chain, pipeline; encerrar, encerramento: shutdown, close, terminate;
endereço: address; entrada: input, entry; entregar, entrega: deliver, delivery; enviar, envio: send, submit;
equipe: team; erro: error; escolha, escolher: choice, choose; esconder, ocultar, oculto: hide, hidden;
escrever, escrita: write; escutar, ouvir: listen; espera, esperar: wait; esquecer: forget; estado: state, status;
estender: extend; estoque: inventory; etapa: step, stage; etiqueta: tag, label; evitar: avoid, prevent;
executar, execução, rodar: run, execute, execution; executor: runner; exemplo: example; exibir, mostrar: show, display;
expirar, expiração, vencimento: expire, expiration, expiry; extrair: extract; falha, falhar: failure, fail;
fatura: invoice; fechar, fechado: close, closed; ferramenta: tool; fila: queue; filho: child; filtro, filtrar: filter;
fio: thread; fluxo: flow, stream; folha: leaf, sheet; fonte: source; formulário: form;
fornecedor, provedor: provider, supplier, vendor; frase: sentence; frete: shipping; funcionalidade: feature;
funcionário: employee; fundo: background; função: function; gancho: hook; gerador: generator;
gerar, geração: generate, generation; gerenciador, gerente: manager; gerenciar, gerenciamento: manage, management;
gravar, salvar: save, write; guardar: store, keep; herança: inheritance; hospedar: host; igual: equal;
impedir: prevent; implantar, implantação: deploy, deployment; imposto: tax; imprimir, impressão: print;
incluir: include; indexar, indexação: index, indexing; iniciar, início: start, init; inserir: insert;
inteiro: integer, int; intervalo: range; irmão: sibling; janela: window; juntar: join, merge;
lançamento: release, launch; lançar: throw, raise, release; largura: width; laço: loop; leitor: reader;
lembrar: remember; lento: slow; ler, leitura: read; letra: letter; ligar: link, enable;
ligação, vínculo: link, binding; limite: threshold; limpar, limpeza: clear, clean, cleanup;
linguagem, idioma, língua: language; linha: line, row; lote: batch; maior: greater, larger;
manipulador, tratador: handler; manter: keep, maintain; marcador: marker, bookmark; medir, medida: measure, metric;
melhorar, melhoria: improve, improvement; menor: smaller, less; mensagem: message; mesclar, mesclagem: merge;
molde: template; montar: mount, assemble; mudança, mudar: change; média: average, mean; navegador: browser;
navegar, navegação: navigate, navigation; negar: deny; nome: name; nota fiscal: invoice; novo: new; nuvem: cloud;
nível: level; número: number; obrigatório: required, mandatory; observador: watcher; observar, vigiar: watch, observe;
obsoleto: deprecated; obter, pegar, recuperar: get, fetch, retrieve; ordem, ordenar, ordenação: order, sort;
origem: origin, source; ouvinte: listener; pacote: package, packet; padrão: default, pattern, standard;
pagamento, pagar: payment, pay; pai: parent; painel: dashboard, panel; palavra: word; papel: role; parar, parada: stop;
passo: step; pasta: folder, directory; pedaço: chunk, piece; pedido: request, order; perfil: profile;
pergunta: question; permitir, permitido: allow, allowed; peso: weight; pilha: stack; ponteiro: pointer;
ponto: point, dot; ponto de entrada: entrypoint, entry; pontuação: score; porta: door; prazo: deadline, timeout;
preencher, preenchimento: fill, padding; preço: price; primeiro: first; prévia: preview; próximo: next;
publicar, publicação: publish; página: page; quantidade: quantity, amount, count; quebra, quebrar: break, wrap;
raiz: root; ramo: branch; rascunho: draft; rastrear, rastreamento: trace, track, tracking; receber: receive;
recolher: collapse, collect; recuo: indent; recurso: resource, feature; rede: network; reescrever: rewrite;
registrar: register, log; registro: record, log; registro de mudanças: changelog; regra: rule; relatório: report;
relógio: clock; renomear: rename; repetir: repeat, retry; requisição, solicitação: request; resposta: response, reply;
restaurar: restore; resumo: summary, digest; retentativa: retry; retorno, retornar: return; reverter: rollback;
rodapé: footer; rota: route; roteador: router; roteamento: routing; rótulo: label; sair: exit, quit, logout;
salto: jump, hop; saída: output, exit; segredo: secret; segurança: security; seguro: secure, safe; semelhante: similar;
semelhança, similaridade: similarity; semente: seed; senha: password; servidor: server; sessão: session;
situação: status; sobrescrever: overwrite, override; soma, somar: sum, add; subir: upload, start;
substituir, substituição: replace; tabela: table; tamanho: size; tarefa: task, job; tecla: key; teclado: keyboard;
tela: screen; tempo: time; tempo de execução: runtime; tempo limite: timeout; tentar, tentativa: try, attempt, retry;
tipo: type; trabalhador: worker; trabalho: work, job; tradução, traduzir: translation, translate;
tratar, tratamento: handle, handling; trava, travar: lock; trecho: snippet, excerpt, chunk;
treino, treinamento, treinar: training, train; trocar, troca: swap, exchange, replace; título: title;
unir: join, union; usuário: user; valor: value; variável: variable; vazio: empty; velocidade: speed; venda: sale;
verdadeiro: true; verificar, verificação: check, verify, verification; versão: version; vetor: array; vista: view;
visão: view, overview; vizinho: neighbor; volta: back, return; vírgula: comma; árvore: tree; índice: index;
último: last; único: single
"""
"""Entries, parted by semicolons: words or phrases of one meaning in Portuguese, a colon, those in English, best first."""
